CREATE INDEX "spent_created" ON "chain_relayer"."spent" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "dead_letter_open" ON "chain_relayer"."dead_letter" USING btree ("consumer") WHERE "chain_relayer"."dead_letter"."redriven_at" is null;--> statement-breakpoint
CREATE INDEX "inbox_done" ON "chain_relayer"."inbox" USING btree ("consumer","done_at") WHERE "chain_relayer"."inbox"."done_at" is not null;--> statement-breakpoint
CREATE INDEX "outbox_published" ON "chain_relayer"."outbox" USING btree ("published_at") WHERE "chain_relayer"."outbox"."published_at" is not null;