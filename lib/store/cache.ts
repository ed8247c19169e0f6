// A bounded cache of immutable things: least recently used goes first.

export type Cache<T> = {
  get(key: string): T | undefined;
  set(key: string, value: T, bytes: number): void /** Drops all keys with this prefix. */;
  forget(prefix: string): void;
};

export function createCache<T>(maxBytes: number): Cache<T> {
  const entries = new Map<string, { value: T; bytes: number }>();
  let total = 0;
  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, bytes) {
      const old = entries.get(key);
      if (old) total -= old.bytes;
      entries.delete(key);
      entries.set(key, { value, bytes });
      total += bytes;
      for (const [oldest, entry] of entries) {
        if (total <= maxBytes) return;
        entries.delete(oldest);
        total -= entry.bytes;
      }
    },
    forget(prefix) {
      for (const [key, entry] of entries) {
        if (!key.startsWith(prefix)) continue;
        entries.delete(key);
        total -= entry.bytes;
      }
    },
  };
}
