/** The requests about what is dragged out of the window. */
import type { HandlersOf } from '../port/host-call.ts';
import { nextOfReading, openReading } from './file-reading.ts';
import { beginDrag, forgetDrag, prepareDrag } from './prepared-drags.ts';

export const DRAGS: HandlersOf<'drags'> = {
  'drags.open': async ({ place }, call) => {
    await openReading(place, call);
    return {};
  },
  'drags.next': async (_input, call) => {
    const base64 = await nextOfReading(call);
    return base64 === undefined ? {} : { base64 };
  },
  'drags.prepare': prepareDrag,
  'drags.begin': async ({ id }, { host }) => beginDrag(host, id),
  'drags.forget': async ({ id }, { host }) => {
    forgetDrag(host, id);
    return {};
  },
};
