#!/bin/sh
# Written by `rulebook install @HOST@`; `rulebook uninstall @HOST@` removes it.
@LINE@
