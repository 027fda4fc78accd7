"""A tool."""


def parse_config(path):
    return path
