"""The order of the dims of each tensor in the memory of the GPU.

The target runs this pass on placed groups; nothing else imports it. Start reading at
`choose_dim_orders.py`.
"""
