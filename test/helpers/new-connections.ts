import { Agent, setGlobalDispatcher } from 'undici';

// The tests' own requests do not use a connection again for long: one that is kept may be closed by its service at the
// very moment that it is used again, when the machine is busy. (Without `keep-alive`, undici 7.30.2 throws where nobody can
// catch it when a body is not read; issue #5360 there.)
setGlobalDispatcher(new Agent({ keepAliveTimeout: 1, keepAliveTimeoutThreshold: 600_000 }));
