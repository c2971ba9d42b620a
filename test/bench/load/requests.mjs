// Requests as they go over the wire, made once.
const head = (method, path) => `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n`;

export const get = (path, token) =>
  `${head('GET', path)}${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n`;

export const post = (path, body) =>
  `${head('POST', path)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
