"""Tables as data with one lookup each: releases, cards, codes, variables, images, packages."""
