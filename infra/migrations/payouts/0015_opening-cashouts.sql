DROP TABLE "payouts"."reservations" CASCADE;--> statement-breakpoint
ALTER TABLE "payouts"."payouts" DROP CONSTRAINT "payouts_authorization";--> statement-breakpoint
ALTER TABLE "payouts"."payouts" DROP CONSTRAINT "payouts_state";--> statement-breakpoint
DROP INDEX "payouts"."payouts_open_of_wallet";--> statement-breakpoint
CREATE UNIQUE INDEX "payouts_authorization" ON "payouts"."payouts" USING btree ("authorizer","authorization_nonce") WHERE not "payouts"."payouts"."state" = 'expired';--> statement-breakpoint
CREATE INDEX "payouts_open_of_wallet" ON "payouts"."payouts" USING btree ("wallet") WHERE "payouts"."payouts"."state" in ('opening', 'taking', 'taken', 'paying', 'returning');--> statement-breakpoint
ALTER TABLE "payouts"."payouts" ADD CONSTRAINT "payouts_state" CHECK ("payouts"."payouts"."state" in ('opening', 'expired', 'taking', 'taken', 'paying', 'paid', 'failed', 'returning', 'returned'));