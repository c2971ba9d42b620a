#!/usr/bin/env node
'use strict';
const { run } = require('../dist/main.js');
const { systemContext, crash, leave } = require('../dist/system.js');

process.once('uncaughtException', crash);
// A run that ends without having ended, since nothing is left to wait for, is no success.
process.exitCode = 1;
run(process.argv.slice(2), systemContext()).then(leave, crash);
