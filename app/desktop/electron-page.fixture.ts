/** The surroundings of a page of the fake Electron: IPC, protocols, and the permissions of its session. */
import { EventEmitter } from 'node:events';
import type { FakeApp } from './electron-app.fixture.ts';
import { type FakeFrame, type FakeWebContents, preventable } from './electron-window.fixture.ts';

type Handler = (
  event: { senderFrame: FakeFrame | null; sender: FakeWebContents },
  ...given: unknown[]
) => unknown;

export function createIpc() {
  const handlers = new Map<string, Handler>();
  const listeners = new EventEmitter();
  const from = (sender: FakeWebContents, frame: FakeFrame | null = sender.mainFrame) => ({
    sender,
    senderFrame: frame,
  });
  return {
    part: {
      handle(channel: string, handler: Handler) {
        if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
        handlers.set(channel, handler);
      },
      on(channel: string, listener: Handler) {
        listeners.on(channel, listener);
        return this;
      },
    },
    invoke: async (who: FakeSender, channel: string, ...given: unknown[]): Promise<unknown> => {
      const handler = handlers.get(channel);
      if (!handler) throw new Error(`No handler registered for '${channel}'`);
      return structuredClone(await handler(from(who.contents, who.frame), ...structuredClone(given)));
    },
    send: (who: FakeSender, channel: string) => void listeners.emit(channel, from(who.contents, who.frame)),
  };
}

export interface FakeSender {
  readonly contents: FakeWebContents;
  /** Default: the main frame. Null: the frame is gone. */
  readonly frame?: FakeFrame | null;
}

export function createProtocol(app: FakeApp) {
  const schemes = new Set<string>();
  const handlers = new Map<string, (request: Request) => Response | Promise<Response>>();
  return {
    part: {
      registerSchemesAsPrivileged(given: readonly { readonly scheme: string }[]) {
        if (app.isReady())
          throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
        for (const { scheme } of given) schemes.add(scheme);
      },
      handle(scheme: string, handler: (request: Request) => Response | Promise<Response>) {
        if (!app.isReady()) throw new Error('protocol can only be used after the app is ready');
        if (handlers.has(scheme)) throw new Error(`Failed to register protocol: ${scheme}`);
        handlers.set(scheme, handler);
      },
    },
    /** @param url Unchanged, including any `..` that Chromium would have resolved. */
    async fetch(url: string, method = 'GET'): Promise<Response> {
      const scheme = url.slice(0, url.indexOf(':'));
      const handler = handlers.get(scheme);
      if (!handler || !schemes.has(scheme)) throw new TypeError('Failed to fetch');
      return handler({ url, method } as Request);
    },
  };
}

export function createSession() {
  type Request = (contents: null, permission: string, callback: (isGranted: boolean) => void) => void;
  type Guard = (
    details: { readonly url: string },
    callback: (answer: { readonly cancel?: boolean }) => void,
  ) => void;
  const emitter = new EventEmitter();
  let onRequest: Request | null = null;
  let onCheck: (() => boolean) | null = null;
  let onDevice: (() => boolean) | null = null;
  let guard: Guard | undefined;
  return {
    part: {
      on(name: string, listener: () => void) {
        emitter.on(name, listener);
        return this;
      },
      setPermissionRequestHandler: (handler: Request) => {
        onRequest = handler;
      },
      setPermissionCheckHandler: (handler: () => boolean) => {
        onCheck = handler;
      },
      setDevicePermissionHandler: (handler: () => boolean) => {
        onDevice = handler;
      },
      webRequest: {
        onBeforeRequest: (next: Guard) => {
          guard = next;
        },
      },
    },
    page: {
      asksFor: (permission: string): boolean => {
        let isGranted = true;
        onRequest?.(null, permission, (answer) => {
          isGranted = answer;
        });
        return isGranted;
      },
      isAllowed: (): boolean => onCheck?.() ?? true,
      /** A permission decided before, which Electron remembers by itself. */
      mayUseDevice: (): boolean => onDevice?.() ?? true,
      downloads: (): boolean => {
        const event = preventable();
        emitter.emit('will-download', event);
        return !event.defaultPrevented;
      },
      requests: (url: string): boolean => {
        let isCancelled = false;
        guard?.({ url }, ({ cancel }) => {
          isCancelled = cancel === true;
        });
        return !isCancelled;
      },
    },
  };
}
