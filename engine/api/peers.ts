/** What the jobs of peers take and give. */

export interface ServeRequest {
  /** The folder that is offered. */
  readonly folder: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port?: number;
  readonly isReadOnly?: boolean;
  /** Holds the token; made, with one, when it is not there. Absent: a token that lasts for this run. */
  readonly tokenPath?: string;
  /** `auto`: off on a loopback address, a certificate of Dray's own anywhere else. */
  readonly tls?: 'auto' | 'off' | { readonly certPath: string; readonly keyPath: string };
  readonly connectionsMax?: number;
  /** Names that clients may ask by, beside this machine's own. */
  readonly names?: readonly string[];
  readonly software: string;
}

/** Told once, when requests are answered. */
export interface ServingEvent {
  readonly type: 'serving';
  readonly folder: string;
  /** `dray://HOST:PORT`, as clients write it. */
  readonly url: string;
  readonly isReadOnly: boolean;
  /** SHA-256 of the certificate in hex with colons; absent without TLS. */
  readonly fingerprint?: string;
  /** Only a token that this run made: nobody could know it otherwise. */
  readonly token?: string;
}

export interface ServeSummary {
  readonly folder: string;
  readonly url: string;
  readonly requests: number;
}
