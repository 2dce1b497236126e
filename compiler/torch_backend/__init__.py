"""The backend of `torch.compile`: graphs that Dynamo captures, compiled and called on tensors.

Torch imports it by the entry point `torch_dynamo_backends`, nothing of ours does; of Trivium, only
the frontend `exported` and this package know torch. Start with `backend.py`, then
`compiled_graph.py`.
"""
