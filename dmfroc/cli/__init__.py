"""The command `dmfroc`: one file per group of commands; options and outputs are shared."""
