"""Selection on an NVIDIA GPU through PyTorch and Triton (the extra `gpu`); imported only when it is used."""
