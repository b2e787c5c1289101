/**
 * Recognises the audio and video that browsers play, by signature and, where several kinds share it, by name.
 */
import { extname } from 'node:path';

export interface MediaKind {
  /** One of a fixed list, so a browser never interprets the bytes as a page or a script. */
  readonly mime: string;
  readonly isVideo: boolean;
}

const AUDIO_NAMES = /^\.(?:m4a|m4b|aac|oga|opus|weba)$/i;

/** @param bytes The first 64 bytes of the file, or more. */
export function mediaKindOf(name: string, bytes: Uint8Array): MediaKind | undefined {
  const start = Buffer.from(bytes.subarray(0, 64)).toString('latin1');
  const isVideo = !AUDIO_NAMES.test(extname(name));
  if (start.startsWith('RIFF') && start.startsWith('WAVE', 8)) return { mime: 'audio/wav', isVideo: false };
  if (start.startsWith('fLaC')) return { mime: 'audio/flac', isVideo: false };
  if (start.startsWith('ID3')) return { mime: 'audio/mpeg', isVideo: false };
  if (start.startsWith('OggS')) {
    const isOggVideo = /\.og[vx]$/i.test(name);
    return { mime: isOggVideo ? 'video/ogg' : 'audio/ogg', isVideo: isOggVideo };
  }
  if (start.startsWith('\x1aE\xdf\xa3')) return { mime: isVideo ? 'video/webm' : 'audio/webm', isVideo };
  // AVIF and HEIC pictures use the same container.
  if (start.startsWith('ftyp', 4) && !/^(?:avif|avis|heic|heix|mif1|msf1)/.test(start.slice(8)))
    return { mime: isVideo ? 'video/mp4' : 'audio/mp4', isVideo };
  // A frame of MPEG audio starts with only eleven fixed bits, so the name must match too.
  const isFrame = bytes[0] === 0xff && (bytes[1]! & 0xe6) === 0xe2;
  return isFrame && /\.mp3$/i.test(name) ? { mime: 'audio/mpeg', isVideo: false } : undefined;
}
