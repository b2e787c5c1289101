/** A WAV file with a tone: 16 bits, one channel, 44,100 samples a second, more than one part in length. */
export function toneOf(seconds: number): Buffer {
  const rate = 44_100;
  const data = Buffer.alloc(seconds * rate * 2);
  for (let at = 0; at < seconds * rate; at += 1)
    data.writeInt16LE(Math.round(8_000 * Math.sin((at * 440 * 2 * Math.PI) / rate)), at * 2);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
