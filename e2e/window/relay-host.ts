/**
 * Stands between pages and their engine, so that tests can hold messages. With `DRAY_LATE_ANSWERS=300`, each
 * message in either direction arrives a random 0 to 300 ms later, in its order, which shows requests and
 * answers that the person's next step has overtaken. `DRAY_LATE_ANSWERS=300:7` draws the delays of seed 7.
 */
import type { BrowserContext, Page } from 'playwright';
import type { HostMessage } from '../../engine/api/host.ts';

/** Sends the message at once, later, or never. */
export type PassMessage = (message: string, send: () => void) => void;

export interface HostRelay {
  /** May answer in the engine's stead. */
  readonly toEngine?: (message: string, send: () => void, answer: (message: HostMessage) => void) => void;
  readonly toPage?: PassMessage;
}

const [LATEST_MS = 0, SEED = Date.now() % 100_000] = (process.env.DRAY_LATE_ANSWERS ?? '')
  .split(':')
  .filter((part) => part !== '')
  .map(Number);

if (LATEST_MS > 0) console.log(`Messages are late: DRAY_LATE_ANSWERS=${LATEST_MS}:${SEED}`);

/** Only connections that pages open afterwards are relayed. */
export async function relayHost(target: Page | BrowserContext, relay: HostRelay = {}): Promise<void> {
  const { toEngine = sendAtOnce, toPage = sendAtOnce } = relay;
  await target.routeWebSocket(/\/host$/, (socket) => {
    const engine = socket.connectToServer();
    const [toEngineLater, toPageLater] = [delayInOrder(), delayInOrder()];
    socket.onMessage((message) => {
      toEngine(
        String(message),
        () => toEngineLater(() => engine.send(message)),
        (answer) => toPageLater(() => socket.send(JSON.stringify(answer))),
      );
    });
    engine.onMessage((message) => {
      toPage(String(message), () => toPageLater(() => socket.send(message)));
    });
    socket.onClose((code, reason) => toEngineLater(() => void engine.close(closing(code, reason))));
    engine.onClose((code, reason) => toPageLater(() => void socket.close(closing(code, reason))));
  });
}

/** Delays the messages of all windows, if `DRAY_LATE_ANSWERS` is set. */
export async function delayMessages(context: BrowserContext): Promise<void> {
  if (LATEST_MS > 0) await relayHost(context);
}

const sendAtOnce: PassMessage = (_message, send) => send();

function delayInOrder(): (send: () => void) => void {
  if (LATEST_MS === 0) return (send) => send();
  const waiting: (() => void)[] = [];
  return (send) => {
    waiting.push(send);
    // Whichever timer ends first sends the oldest message.
    setTimeout(() => waiting.shift()?.(), drawMs());
  };
}

let state = SEED;

/** A linear congruential generator, since the delays only have to differ. */
function drawMs(): number {
  state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
  return (state / 2 ** 32) * LATEST_MS;
}

/** A page may name no code of the protocol's own, such as that of a lost connection. */
function closing(code: number | undefined, reason: string | undefined): { code?: number; reason?: string } {
  const isAllowed = code === 1_000 || (code !== undefined && code >= 3_000 && code < 5_000);
  return isAllowed ? { code, ...(reason === undefined ? {} : { reason }) } : {};
}
