"""The paper, regenerated: every number and figure that it prints, computed by the real code."""
