"""The transfers of papers/003 (Kissel et al. 2012, section IV.C): which component limits each, known and answered."""
