#!/usr/bin/env node
'use strict';
const { run } = require('../dist/main.js');
const { systemContext, crash } = require('../dist/system.js');

process.once('uncaughtException', crash);
run(process.argv.slice(2), systemContext()).then((status) => process.exit(status), crash);
