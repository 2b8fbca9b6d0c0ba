"""The development suite: problems on which choices of defaults are made, then confirmed."""
