"""Tuning: what is searched (`problem`), the search (`search`), and where studies are kept (`storage`)."""
