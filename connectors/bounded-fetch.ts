/** HTTP with a limit of size: a response that is larger is cut off by an error, before anybody has read it. */

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A stream of events carries many messages; one that is open for days is opened anew. */
const STREAM_FACTOR = 16;

export function boundedFetch(bytesMax: number, send: Fetch = fetch): Fetch {
  return async (url, init) => {
    const response = await send(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const limit = isStream ? bytesMax * STREAM_FACTOR : bytesMax;
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(limited(limit));
    return new Response(body, { status, statusText, headers });
  };
}

function limited(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= bytesMax) controller.enqueue(chunk);
      else
        controller.error(new Error(`The response of the server is larger than ${bytesMax} bytes.`));
    },
  });
}
