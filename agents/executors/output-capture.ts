import { isUtf8 } from 'node:buffer';

export interface CapturedText {
  /** Decoded as UTF-8; broken bytes are U+FFFD, a character cut by the bound is left out. */
  readonly text: string;
  /** More came than was kept. */
  readonly truncated: boolean;
  /** False where the bytes kept were no UTF-8; the text then is not what was written. */
  readonly isUtf8: boolean;
}

/** What is kept of an output stream, never more than its bound in memory. */
export interface OutputCapture {
  add(piece: Buffer): void;
  /** Bytes that came, kept or not. */
  seenBytes(): number;
  text(): CapturedText;
}

/** Keeps the first `maxBytes`. */
export function headCapture(maxBytes: number): OutputCapture {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let seenBytes = 0;
  return {
    add(piece) {
      seenBytes += piece.length;
      const fits = piece.subarray(0, maxBytes - keptBytes);
      if (fits.length === 0) return;
      kept.push(fits);
      keptBytes += fits.length;
    },
    seenBytes: () => seenBytes,
    text() {
      const truncated = seenBytes > maxBytes;
      const bytes = Buffer.concat(kept);
      return decoded(truncated ? withoutCutEnd(bytes) : bytes, truncated);
    },
  };
}

/** Keeps the last `maxBytes`: what a program says last tells why it ended. */
export function tailCapture(maxBytes: number): OutputCapture {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let seenBytes = 0;
  const tail = () => {
    const bytes = Buffer.concat(kept);
    return bytes.subarray(Math.max(0, bytes.length - maxBytes));
  };
  return {
    add(piece) {
      seenBytes += piece.length;
      kept.push(piece);
      keptBytes += piece.length;
      // Joined rarely: a flood in small pieces would cost its square else.
      if (keptBytes <= 2 * maxBytes + 65_536) return;
      kept = [Buffer.from(tail())];
      keptBytes = kept[0]?.length ?? 0;
    },
    seenBytes: () => seenBytes,
    text() {
      const truncated = seenBytes > maxBytes;
      return decoded(truncated ? withoutCutStart(tail()) : tail(), truncated);
    },
  };
}

const decoded = (bytes: Buffer, truncated: boolean): CapturedText => ({
  text: bytes.toString('utf8'),
  truncated,
  isUtf8: isUtf8(bytes),
});

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

function withoutCutStart(bytes: Buffer): Buffer {
  let from = 0;
  while (from < 3 && isContinuation(bytes[from])) from += 1;
  return bytes.subarray(from);
}

/** A lead byte among the last three that promises more bytes than follow it was cut. */
function withoutCutEnd(bytes: Buffer): Buffer {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  const byte = bytes[lead] ?? 0;
  const promised = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
  return bytes.length - lead < promised ? bytes.subarray(0, lead) : bytes;
}
