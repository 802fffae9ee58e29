"""Do the same tables give the same rows, at every run and in every session?"""
