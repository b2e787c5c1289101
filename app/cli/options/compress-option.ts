import { Option } from 'commander';

/** @param ofAuto What else to say of `auto` */
export function compressOption(ofAuto?: string): Option {
  const auto = ofAuto === undefined ? 'auto' : `auto (${ofAuto})`;
  const text = `compress content where that pays: ${auto}, max (slower, smaller) or off`;
  return new Option('--compress <how>', text).choices(['auto', 'off', 'max']);
}
