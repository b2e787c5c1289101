/**
 * Calls a listener at the start and the end of each request. It is inside the retry wrapper, so it reports
 * each attempt. A read ends when its body ends.
 */

import { toDrayError } from '../../api/error.ts';
import type { CallListener } from '../../api/jobs/jobs.ts';
import type { ObjectRead, ObjectStore } from '../object-store.ts';
import { wrapStore } from './wrap-store.ts';

export function withCallLog(store: ObjectStore, onCall: CallListener): ObjectStore {
  const logged = wrapStore(store, async (name, _signal, send, key) => {
    const end = onCall(name, key);
    try {
      const answer = await send();
      end();
      return answer;
    } catch (error) {
      end(toDrayError(error).code);
      throw error;
    }
  });
  return {
    ...logged,
    async get(key, call) {
      const end = onCall('get', key);
      try {
        const read = await store.get(key, call);
        if (read) return { ...read, body: loggedBody(read.body, end) };
        end();
        return read;
      } catch (error) {
        end(toDrayError(error).code);
        throw error;
      }
    },
  };
}

function loggedBody(body: ObjectRead['body'], end: ReturnType<CallListener>): ObjectRead['body'] {
  return {
    destroy() {
      body.destroy();
      end();
    },
    async *[Symbol.asyncIterator]() {
      try {
        for await (const piece of body) yield piece;
      } catch (error) {
        end(toDrayError(error).code);
        throw error;
      } finally {
        end();
      }
    },
  };
}
