"""Sessions with the names of onnxruntime, for programs that were written for it.

`trivium.onnxruntime_api` exports them. Start reading at `inference_session.py`.
"""
