ALTER TABLE "payouts"."payouts" ADD COLUMN "account_mark" text;--> statement-breakpoint
CREATE INDEX "payouts_of_account" ON "payouts"."payouts" USING btree ("account_mark","created_at");