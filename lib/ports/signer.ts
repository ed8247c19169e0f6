// Keyed hashes: link secrets, page nonces and codes are derived by it, so nothing that opens a door is stored.

export interface Signer {
  /**
   * HMAC-SHA-256 of `text` under the runtime's own key, base64url: 43 characters, 256 bits. The same for the same text
   * on every process of a deployment and after a restart.
   */
  hmac(text: string): string;
}
