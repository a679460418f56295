CREATE TABLE "payouts"."account_checks" (
	"id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"request_mark" text NOT NULL,
	"account_mark" text NOT NULL,
	"verdict" text,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "account_checks_verdict" CHECK ("payouts"."account_checks"."verdict" in ('match', 'no_match', 'cannot_tell'))
);
--> statement-breakpoint
CREATE INDEX "account_checks_of_wallet" ON "payouts"."account_checks" USING btree ("wallet","asked_at");--> statement-breakpoint
CREATE INDEX "account_checks_of_account" ON "payouts"."account_checks" USING btree ("account_mark","asked_at");--> statement-breakpoint
CREATE INDEX "account_checks_asked" ON "payouts"."account_checks" USING btree ("asked_at");