"""A trained model outside its run folder.

run -> facts (what is known of it) -> file (safetensors with config and vocabulary) -> card, model.py, ONNX
"""
