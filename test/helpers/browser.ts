import { existsSync, readFileSync } from 'node:fs';
import jsqr from 'jsqr';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Download,
  firefox,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, expect } from 'vitest';
import { type Needs, needs, only } from './needs';
import type { Served } from './program';
import { askedOf } from './service';

const inFirefox = process.env.PWPUSH_TEST_BROWSER === 'firefox';
const executablePath = inFirefox ? '/usr/bin/firefox-esr' : (process.env.PWPUSH_TEST_CHROMIUM ?? '/usr/bin/chromium');
/** The same engine without windows, which takes half the time; but its Back button loads pages again. */
const SHELL = process.env.PWPUSH_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell';

export const needsBrowser = needs(inFirefox ? 'Firefox' : 'Chromium', existsSync(executablePath));
/** Tests without script, on paper, with pictures or downloads that a page makes: nothing tells of these in Firefox. */
export const onChromium = only('Chromium (PWPUSH_TEST_BROWSER is set)', !inFirefox);

/** Tests of what the engine of a browser can change, one or few of a kind: `.ci/run` runs them in Firefox, too. */
export const alsoFirefox: Needs = { skip: false, tags: ['firefox'] };

/** A browser that takes `pw.test` for this machine: an address that is no secure context over plain http. */
export function openBrowser(options: BrowserOptions = {}): Promise<Browser> {
  return inFirefox ? openFirefox() : openChromium(options);
}

interface BrowserOptions {
  /** Whether the test goes back, to a page that the browser may keep. */
  readonly back?: boolean;
}

async function openFirefox(): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath,
    firefoxUserPrefs: { 'network.dns.localDomains': 'pw.test' },
  });
  // Debian's does not know this command of WebDriver BiDi, with which each context begins.
  const { _browserSession: session } = (browser as unknown as Ruled)._connection.toImpl(browser);
  const send = session.send.bind(session);
  session.send = async (method, ...rest) =>
    method === 'emulation.setMediaFeaturesOverride' ? {} : send(method, ...rest);
  return browser;
}

interface Ruled {
  readonly _connection: { toImpl(browser: Browser): { readonly _browserSession: Session } };
}
interface Session {
  send(method: string, ...rest: unknown[]): Promise<unknown>;
}

const inChromium = {
  executablePath,
  // People's browsers have it.
  ignoreDefaultArgs: ['--disable-back-forward-cache'],
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--no-first-run',
    '--host-resolver-rules=MAP pw.test 127.0.0.1',
    // Processes that each window makes ahead, for its suggestions and for the next page: most of what a window costs.
    '--disable-features=SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup',
  ],
};

function openChromium({ back = false }: BrowserOptions): Promise<Browser> {
  const path = back || !existsSync(SHELL) ? executablePath : SHELL;
  return chromium.launch({ ...inChromium, executablePath: path });
}

/** How long is waited for what a page is to do, on a machine that is busy, in milliseconds. */
const PATIENCE = 60_000;

/** Chromium with a profile on disk, and the tabs that were open when it was closed. */
export async function openProfile(folder: string): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(folder, {
    ...inChromium,
    ignoreDefaultArgs: [...inChromium.ignoreDefaultArgs, 'about:blank'],
    args: [...inChromium.args, '--restore-last-session', '--hide-crash-restore-bubble'],
  });
  context.setDefaultTimeout(PATIENCE);
  return context;
}

export interface Watched {
  readonly page: Page;
  /** What must not happen: errors and warnings on the console, violations of the policy, failed and foreign requests. */
  readonly troubles: string[];
}

export async function watchedPage(context: BrowserContext, origin: string): Promise<Watched> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText;
    // A page that leaves for another, as that of a damaged link does, may still be loading.
    if (request.isNavigationRequest() && why === 'net::ERR_ABORTED') return;
    troubles.push(`failed: ${request.url()} ${why}`);
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) troubles.push(`foreign: ${request.url()}`);
  });
  page.on('console', (message) => {
    const status = /^Failed to load resource: the server responded with a status of \d+/;
    if (status.test(message.text()) && message.location().url === page.url()) return;
    troubles.push(`console: ${message.text()}`);
  });
  return { page, troubles };
}

export interface PageOptions extends BrowserContextOptions, BrowserOptions {
  readonly before?: string;
  /** Whether the test leaves something at the page, such as a listener or a route. */
  readonly own?: 'page';
}

interface PagesOptions {
  readonly permissions?: string[];
  readonly except?: RegExp;
}

/**
 * Opens paths of an origin, or whole addresses, for the tests of a file, and fails those whose page had troubles. Tests
 * with the same options use one page in turn, and all with the same window one context: making one takes longer than most
 * of them.
 */
export function pages(at: () => string, { permissions = [], except }: PagesOptions = {}) {
  const contexts = new Map<string, BrowserContext>();
  const kept = new Map<string, Watched>();
  const used = new Map<string, Watched>();
  const browsers = new Map<boolean, Browser>();
  afterEach(async ({ task }) => {
    const troubles = [...used.values()].flatMap((watched) => watched.troubles.splice(0));
    const failed = task.result?.state === 'fail';
    const left = failed ? [] : [...kept.values()].map(({ page }) => page);
    for (const context of contexts.values())
      for (const page of context.pages()) if (!left.includes(page)) await page.close();
    for (const [key, { page }] of used) {
      if (page.isClosed()) kept.delete(key);
      else await page.evaluate('sessionStorage.clear()').catch(() => undefined);
    }
    used.clear();
    expect(troubles.filter((trouble) => !except?.test(trouble))).toEqual([]);
  });
  afterAll(() => Promise.all([...browsers.values()].map((browser) => browser.close())));
  const contextWith = async (given: BrowserContextOptions & BrowserOptions) => {
    const { back = false, ...options } = given;
    const key = JSON.stringify(given);
    const apart = back && !inFirefox;
    const browser = browsers.get(apart) ?? (await openBrowser({ back }));
    browsers.set(apart, browser);
    const context = contexts.get(key) ?? (await browser.newContext({ permissions, ...options }));
    contexts.set(key, context);
    return context;
  };
  return async (path: string, options: PageOptions = {}): Promise<Page> => {
    const address = /^https?:/.test(path) ? path : at() + path;
    const { before, own, ...rest } = options;
    const { origin } = new URL(address);
    const key = JSON.stringify([origin, options]);
    let watched = used.get(key) ?? kept.get(key);
    if (!watched || watched.page.isClosed()) {
      watched = await watchedPage(await contextWith(rest), origin);
      if (before) await watched.page.addInitScript(before);
      if (!own && !before) kept.set(key, watched);
    }
    const { page, troubles } = watched;
    // Another of its context may lie over it.
    if (page.context().pages().length > 1) await page.bringToFront();
    // To another fragment it would stay.
    if (page.url().split('#')[0] === address.split('#')[0]) await page.goto('about:blank');
    // Of the test before, whose requests end with its page.
    if (!used.has(key)) page.once('framenavigated', () => troubles.splice(0));
    used.set(key, watched);
    await page.goto(address);
    return page;
  };
}

/**
 * What a service is asked over its address, beside its pages.
 * @param forwarded what a proxy that it trusts says of the host
 */
export function serviceAt({ url, token = '' }: Pick<Served, 'url' | 'token'>, forwarded?: string) {
  const asked = askedOf({
    adminToken: token,
    fetch: async (request: Request) => {
      const { pathname, search } = new URL(request.url);
      const bytes = await request.arrayBuffer();
      const { method, headers } = request;
      if (forwarded !== undefined) headers.set('x-forwarded-host', forwarded);
      const body = bytes.byteLength > 0 ? { body: bytes } : {};
      const response = await fetch(url + pathname + search, { method, headers, ...body });
      const own = new Headers(response.headers);
      // Of the connection, which the API says nothing about.
      for (const name of ['connection', 'date', 'keep-alive']) own.delete(name);
      return new Response(response.body, { status: response.status, headers: own });
    },
  });
  const views = async (token: string) => (await asked.kindsOf(token)).filter((kind) => kind === 'view').length;
  return { ...asked, views };
}

/** Each character of it must arrive. */
export const SECRET = '  π = "3.14"\r\n\t<b>&amp;</b> 🔑\n\n';

export const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

export const alerts = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor();

/** The heading of a page: once it is there, the page is. */
export const headed = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

/** Sends the form of the front page, and resolves to the link that is shown then. */
export async function createLink(page: Page): Promise<string> {
  await press(page, 'Create link');
  await headed(page, 'Your link is ready');
  return (await page.locator('bdo').textContent()) ?? '';
}

export const SMALLEST = { width: 320, height: 640 };

/** Pixels by which the page is wider than the smallest phone. */
export async function tooWide(page: Page): Promise<number> {
  await page.setViewportSize(SMALLEST);
  return widthTooMuch(page);
}

/** Pixels by which the page is wider than the window, whose scroll bar has room reserved. */
export const widthTooMuch = (page: Page): Promise<number> =>
  page.evaluate('document.body.scrollWidth - document.body.clientWidth');

/** So many files that are saved because of what `begin` does, by the names that the page suggests. */
export async function downloads(page: Page, count: number, begin: () => Promise<unknown>) {
  const found: Download[] = [];
  const all = page.waitForEvent('download', (one) => found.push(one) === count);
  await Promise.all([all, begin()]);
  const read = async (one: Download) => [one.suggestedFilename(), readFileSync(await one.path())];
  return Object.fromEntries(await Promise.all(found.map(read))) as Record<string, Buffer>;
}

/** What the QR code of that name says, read off the screen; its colours are not tried the other way round. */
export async function qrIn(page: Page, name: string): Promise<string> {
  const png = await page.getByRole('img', { name }).screenshot();
  const canvas = await page.context().newPage();
  const read = `(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    return [btoa(Array.from(data, (one) => String.fromCharCode(one)).join('')), width, height];
  })()`;
  const [data, width, height] = await canvas.evaluate<[string, number, number]>(read);
  await canvas.close();
  const pixels = new Uint8ClampedArray(Buffer.from(data, 'base64'));
  const found = jsqr(pixels, width, height, { inversionAttempts: 'dontInvert' });
  return Buffer.from(found?.binaryData ?? []).toString();
}
