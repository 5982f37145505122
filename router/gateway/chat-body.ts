import type { ChatMessage, ChatRequest } from './gateway-client.ts';

/** The request as OpenAI's `/v1/chat/completions` takes it. */
export function chatBody(request: ChatRequest): Readonly<Record<string, unknown>> {
  const { model, messages, tools, temperature, maxTokens } = request;
  return {
    model,
    messages: messages.map(toWire),
    ...(tools !== undefined &&
      tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  };
}

function toWire(message: ChatMessage): object {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  }
  if (message.role !== 'assistant' || message.toolCalls === undefined) {
    return { role: message.role, content: message.content };
  }
  const calls = message.toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  return { role: 'assistant', content: message.content || null, tool_calls: calls };
}
