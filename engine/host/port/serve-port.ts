/**
 * The engine's side of a port: takes requests, sends events in batches, answers. The other end is not
 * trusted: every message and every input is checked against a schema, and the number of running requests is
 * bounded.
 */
import * as v from 'valibot';
import { DrayError, toErrorRecord } from '../../api/error.ts';
import type { HostMessage, HostRequestName } from '../../api/host.ts';
import type { HostPort } from '../../api/window/host-port.ts';
import type { HostState } from '../host-state.ts';
import { createEventOutbox } from './event-outbox.ts';
import { HOST_INPUTS } from './host-inputs.ts';
import { loadHandler } from './host-requests.ts';

const REQUESTS_MAX = 256;

const ID = v.pipe(v.number(), v.safeInteger());
const MESSAGE = v.variant('do', [
  v.object({ do: v.literal('ask'), id: ID, name: v.string(), input: v.unknown() }),
  v.object({ do: v.literal('stop'), id: ID }),
]);

export interface ServedPort {
  /** Resolves when all running requests have ended. */
  close(): Promise<void>;
}

/** Serves until the port closes, which stops running requests. An invalid message closes the port. */
export function servePort(port: HostPort, host: HostState): ServedPort {
  const running = new Map<number, AbortController>();
  const runs = new Set<Promise<void>>();
  const closing = new AbortController();
  const owner = { closed: closing.signal };
  const send = (message: HostMessage) => port.post(message);

  const run = async (id: number, name: string, input: unknown) => {
    const stopping = new AbortController();
    running.set(id, stopping);
    const outbox = createEventOutbox((events) => send({ is: 'events', id, events }));
    try {
      const known = checkName(name);
      const checked = checkInput(known, input);
      const handle = await loadHandler(known);
      const call = { host, owner, signal: stopping.signal, emit: outbox.add };
      const answer = await handle(checked, call);
      outbox.flush();
      send({ is: 'answer', id, answer });
    } catch (error) {
      outbox.flush();
      send({ is: 'failed', id, error: toErrorRecord(error) });
    } finally {
      running.delete(id);
    }
  };

  port.onMessage((received) => {
    const { output: message, success } = v.safeParse(MESSAGE, received);
    if (!success || (message.do === 'ask' && running.has(message.id))) return port.close();
    if (message.do === 'stop') return running.get(message.id)?.abort();
    const { id, input, name } = message;
    if (running.size < REQUESTS_MAX) {
      const ended = run(id, name, input).finally(() => runs.delete(ended));
      runs.add(ended);
    } else send({ is: 'failed', id, error: toErrorRecord(tooMany()) });
  });
  port.onClose(() => {
    closing.abort();
    for (const stopping of running.values()) stopping.abort();
  });
  return {
    async close() {
      port.close();
      await Promise.all(runs);
    },
  };
}

function checkName(name: string): HostRequestName {
  if (Object.hasOwn(HOST_INPUTS, name)) return name as HostRequestName;
  throw new DrayError('usage', `There is no request "${name}".`, { data: { name } });
}

/** @throws `usage`, naming the field. */
function checkInput(name: HostRequestName, input: unknown): never {
  const { issues, output, success } = v.safeParse(HOST_INPUTS[name] as v.GenericSchema, input);
  // The table's type ties each schema to its handler's input; here it may be any of them.
  if (success) return output as never;
  const [first] = issues;
  const field = v.getDotPath(first) ?? 'its input';
  throw new DrayError('usage', `The request ${name} is invalid: ${field}: ${first.message}`, {
    data: { name, field },
  });
}

function tooMany(): DrayError {
  return new DrayError(
    'slowDown',
    `${REQUESTS_MAX} requests are already running. Wait until some of them have ended.`,
    {
      retry: 'backoff',
    },
  );
}
