/**
 * A bad network for tests: toxiproxy between a client and a server adds latency, limits bandwidth and cuts
 * connections.
 */
import { freePort, startProcess, toolPath, waitUntilReady } from './tools.ts';

export interface ProxyOptions {
  /** Such as `http://127.0.0.1:7070`. */
  readonly upstream: string;
  /** Added to each answer. */
  readonly latencyMs?: number;
}

export interface BadNetwork {
  /** The endpoint to use instead of the upstream's. */
  readonly endpoint: string;
  /** Applies at once, also to open connections; 0 removes it. */
  setLatency(latencyMs: number): Promise<void>;
  /** Limits each direction of each connection, in KiB a second; 0 removes the limit. */
  setBandwidth(kibPerSecond: number): Promise<void>;
  /** Closes each new connection after this many bytes of answers; 0 removes the limit. */
  cutAfter(answerBytes: number): Promise<void>;
  /** Closes each new connection after this many bytes of requests; 0 removes the limit. */
  cutRequestsAfter(requestBytes: number): Promise<void>;
  /**
   * Resets this share of the connections, chosen at random, as soon as they carry something in the
   * direction: `downstream` loses answers of requests that the server has carried out. 0 removes it.
   */
  resetConnections(share: number, stream: 'upstream' | 'downstream'): Promise<void>;
  /** The bytes that clients have sent so far over connections that have ended. */
  sentBytes(): Promise<number>;
  /** Closes all connections and accepts no new ones. */
  cut(): Promise<void>;
  /** Accepts connections but forwards nothing in either direction. */
  hang(): Promise<void>;
  /** Restores the initial state: no toxics, no cut. */
  restore(): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Toxic {
  readonly name: string;
  readonly type: 'latency' | 'bandwidth' | 'limit_data' | 'timeout' | 'reset_peer';
  readonly stream: 'upstream' | 'downstream';
  readonly attributes: Readonly<Record<string, number>>;
}

const PROXY = 'store';
/**
 * toxiproxy refuses clients that look like a browser. It may also close a kept connection just as the next
 * request is sent.
 */
const HEADERS = { 'user-agent': 'dray-tests', connection: 'close' };

export async function startToxiproxy(options: ProxyOptions): Promise<BadNetwork> {
  const path = await toolPath('toxiproxy');
  const [apiPort, port] = [await freePort(), await freePort()];
  const api = `http://127.0.0.1:${apiPort}`;
  const running = startProcess(path, ['-host', '127.0.0.1', '-port', String(apiPort), '-proxy-metrics'], {
    PATH: process.env.PATH,
  });
  await waitUntilReady(running, async () => (await fetch(`${api}/version`)).ok);
  const upstream = new URL(options.upstream).host;
  await send('POST', `${api}/proxies`, { name: PROXY, listen: `127.0.0.1:${port}`, upstream, enabled: true });

  const proxyUrl = `${api}/proxies/${PROXY}`;
  const removeToxic = (name: string) => send('DELETE', `${proxyUrl}/toxics/${name}`, undefined, [404]);
  const setToxic = async (toxic: Toxic, isWanted: boolean, toxicity = 1) => {
    await removeToxic(toxic.name);
    if (isWanted) await send('POST', `${proxyUrl}/toxics`, { ...toxic, toxicity });
  };
  const setLatency = (latencyMs: number) =>
    setToxic(
      { name: 'latency', type: 'latency', stream: 'downstream', attributes: { latency: latencyMs } },
      latencyMs > 0,
    );
  const limitData = (name: string, stream: Toxic['stream'], bytes: number) =>
    setToxic({ name, type: 'limit_data', stream, attributes: { bytes } }, bytes > 0);

  if (options.latencyMs) await setLatency(options.latencyMs);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    setLatency,
    setBandwidth: async (kibPerSecond) => {
      for (const stream of ['upstream', 'downstream'] as const) {
        const attributes = { rate: kibPerSecond };
        await setToxic(
          { name: `bandwidth-${stream}`, type: 'bandwidth', stream, attributes },
          kibPerSecond > 0,
        );
      }
    },
    cutAfter: (answerBytes) => limitData('cut-answers', 'downstream', answerBytes),
    cutRequestsAfter: (requestBytes) => limitData('cut-requests', 'upstream', requestBytes),
    resetConnections: (share, stream) =>
      setToxic(
        { name: `reset-${stream}`, type: 'reset_peer', stream, attributes: { timeout: 0 } },
        share > 0,
        share,
      ),
    sentBytes: async () => {
      const text = await (await fetch(`${api}/metrics`, { headers: HEADERS })).text();
      const found = /^toxiproxy_proxy_received_bytes_total\{direction="upstream".*\} (\S+)$/m.exec(text);
      return Number(found?.[1] ?? 0);
    },
    cut: () => send('POST', proxyUrl, { enabled: false }),
    hang: async () => {
      for (const stream of ['upstream', 'downstream'] as const) {
        await setToxic({ name: `hang-${stream}`, type: 'timeout', stream, attributes: { timeout: 0 } }, true);
      }
    },
    restore: () => send('POST', `${api}/reset`),
    stop: () => running.stop(),
    [Symbol.asyncDispose]: () => running.stop(),
  };
}

async function send(
  method: string,
  url: string,
  body?: object,
  allowed: readonly number[] = [],
): Promise<void> {
  const headers = { ...HEADERS, 'content-type': 'application/json' };
  const answer = await fetch(url, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok && !allowed.includes(answer.status))
    throw new Error(`toxiproxy: ${method} ${url}: ${answer.status} ${text}`);
}
