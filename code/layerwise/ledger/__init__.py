"""Claims and statistics -> verdicts.

claims    the ledger in claims/: what is printed, where, and which statistic answers it
verdicts  one rule between printed and recomputed: `agrees`, `differs`, `reproduced`, ...
findings  what differs, the most consequential first
"""
