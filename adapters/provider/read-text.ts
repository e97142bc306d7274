/** Reading a body that is not streamed on. */

/** The body as text, cut after `maxBytes` bytes; bytes that are no UTF-8 become U+FFFD. Throws what the body throws. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body) {
    const wanted = chunk.subarray(0, maxBytes - bytes);
    bytes += wanted.length;
    text += decoder.decode(wanted, { stream: true });
    if (bytes >= maxBytes) break;
  }
  return text + decoder.decode();
}
