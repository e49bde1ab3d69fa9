"""A released testset by class and slice: what the owner may see once nothing of it is secret."""
