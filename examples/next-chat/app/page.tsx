import { LoadedChat } from './chat';

/** `/?chat=ID` is a chat; a person's chats are theirs alone, whatever their ids. */
export default async function Page({
  searchParams,
}: {
  readonly searchParams: Promise<{ readonly chat?: string }>;
}) {
  const { chat = 'first' } = await searchParams;
  return <LoadedChat id={chat} api="/api/chat" />;
}
