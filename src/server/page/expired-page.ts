import { icon } from './icons';
import { page } from './layout';
import { markup } from './markup';

/** The same for a push that has expired and for one that never was. */
export function gonePage(): Response {
  return page(
    'Nothing here',
    markup`<div class="body">
<div class="badge">${icon('none')}</div>
<h1>There is nothing here</h1>
<p>This link has expired, was deleted, or never existed. The page does not say which, so that guessing finds nothing out.</p>
<p class="quiet">Ask whoever sent it for a new one. If it came in a message, check that it was copied whole.</p>
</div>`,
    { status: 404 },
  );
}

/** Says that a push was ended just now. */
export function deletedPage(): Response {
  return page(
    'Deleted',
    markup`<div class="body">
<div class="badge">${icon('check')}</div>
<h1>The secret is deleted</h1>
<p>Nobody can open the link any more, and nothing of the secret is kept.</p>
<p class="quiet">You can close this page.</p>
</div>`,
  );
}
