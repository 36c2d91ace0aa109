"""How sure we are: everything here knows functions of weights, nothing about any measure."""
