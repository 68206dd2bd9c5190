"""The decoder-only Transformer of the paper: RMSNorm before and after each sub-layer, GeGLU, no biases."""
