#!/bin/sh
git init -q -b main --template= repository
cd repository
git config user.name test
git config user.email test@example.org
git config gc.auto 0
git commit -q --allow-empty -m start
