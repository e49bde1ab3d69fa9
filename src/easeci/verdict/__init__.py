"""Script + the testset's cells so far → Verdict, or the labels that are needed first."""
