"""Kernels in C++ for training on a CPU, compiled on first use in a second or two; without a compiler, plain torch.

library.py          compiles and loads them
vectors.h           vectors, bf16, the exponential function
products.h          matrix products of small blocks, in fp32 and bf16; transposing
rows.h              norm and GeGLU of a row
attention.cpp       biased attention                             called by model/biased.py
halves.cpp          a block before and after its attention       called by model/halves.py
orthogonalise.cpp   Newton-Schulz steps                          called by optimizers/orthogonalise.py
"""
