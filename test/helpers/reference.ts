// Answers of the reference, Password Pusher 2.11.4, word for word as docs/wire.md describes them.

export const CREATED = `{"url_token":"quyul5r5w08","html_url":"https://pw.test/p/quyul5r5w08/r",\
"json_url":"https://pw.test/p/quyul5r5w08/r.json","expire_after_days":7,"expire_after_views":5,\
"days_remaining":7,"views_remaining":5,"expired":false,"expired_on":null,"deletable_by_viewer":true,\
"retrieval_step":true,"deleted":false,"passphrase":"","created_at":"2026-08-20T11:06:45.000Z",\
"updated_at":"2026-08-20T11:06:45.000Z","name":"","note":""}`;

export const RETRIEVED = `{"url_token":"quyul5r5w08","html_url":"https://pw.test/p/quyul5r5w08",\
"json_url":"https://pw.test/p/quyul5r5w08.json","expire_after_days":7,"expire_after_views":5,\
"days_remaining":6,"views_remaining":2,"expired":false,"expired_on":null,"deletable_by_viewer":true,\
"retrieval_step":false,"deleted":false,"passphrase":"","created_at":"2026-08-19T11:06:45.000Z",\
"updated_at":"2026-08-19T11:06:45.000Z","payload":"hunter2","files":[]}`;

export const EXPIRED = `{"url_token":"quyul5r5w08","html_url":"https://pw.test/p/quyul5r5w08",\
"json_url":"https://pw.test/p/quyul5r5w08.json","expire_after_days":7,"expire_after_views":5,\
"days_remaining":6,"views_remaining":5,"expired":true,"expired_on":"2026-08-20T11:06:45.000Z",\
"deletable_by_viewer":true,"retrieval_step":false,"deleted":true,"passphrase":"",\
"created_at":"2026-08-19T11:06:45.000Z","updated_at":"2026-08-20T11:06:45.000Z"}`;

export const PREVIEWED = '{"url":"https://pw.test/p/quyul5r5w08/r"}';

export const AUDITED = `{"logs":[{"ip":"203.0.113.7","user_agent":"curl/8.5.0","referrer":"","kind":"view",\
"created_at":"2026-08-20T10:06:45.000Z","updated_at":"2026-08-20T10:06:45.000Z"},\
{"ip":"198.51.100.1","user_agent":"","referrer":"","kind":"creation",\
"created_at":"2026-08-19T11:06:45.000Z","updated_at":"2026-08-19T11:06:45.000Z"}]}`;

export const VERSION = `{"application_version":"2.11.4","api_version":"2.1","edition":"oss",\
"features":{"anonymous_access":true,"api_token_authentication":true,"accounts":{"enabled":false},\
"pushes":{"enabled":true,"email_auto_dispatch":true,"file_attachments":{"enabled":true,\
"requires_authentication":true},"url_pushes":{"enabled":true},"qr_code_pushes":{"enabled":true}},\
"requests":{"enabled":false}}}`;

/** The same answer with some fields changed, added, or (undefined) left out. */
export function changed(answer: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ ...JSON.parse(answer), ...fields });
}
