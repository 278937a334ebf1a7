"""The nouns: facts, causes, verdicts, reports. Frozen records; imports nothing of gpuwhy outside this folder."""
