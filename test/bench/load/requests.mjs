// Requests as they go over the wire, made once.
function request(line, fields, body = '') {
  const head = Object.entries({ Host: 'localhost', ...fields }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${head.join('')}\r\n${body}`;
}

export const get = (path, fields) => request(`GET ${path}`, fields);

export const post = (path, body, fields) =>
  request(`POST ${path}`, { 'Content-Type': 'application/json', 'Content-Length': body.length, ...fields }, body);

export const bearer = (token) => ({ Authorization: `Bearer ${token}` });
